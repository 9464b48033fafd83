// Improves what works without: nothing here is needed to read, search or accept.
"use strict";
