"""One folder a workflow: its commands, and how its sessions are shown."""
