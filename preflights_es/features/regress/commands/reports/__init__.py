"""What a regression run found, for machines and places: each module has `render(report)`.

Text of sessions comes from outside. Here it becomes no markup, no link, no mention and no command.
"""
