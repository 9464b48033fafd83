"""The server that coding agents ask, by the Model Context Protocol.

Thin: arguments become a request, a service answers, its result becomes JSON. Nothing is decided
here. Only the command `mcp` imports this room, and only this room imports the SDK.
"""
