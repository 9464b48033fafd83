"""Mirrors `preflights_es.testing`; its laws and strategies are tried on all our workflows, too."""
