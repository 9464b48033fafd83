"""Questions about data: a catalogue, a conversation, one checked query, and its rows."""
