"""Sessions as a whole: transfer between logs, verification, erasure, record numbers."""
