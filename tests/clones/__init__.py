"""A clone that means harm, watched from outside while commands look at it. Linux only (strace)."""
