"""The command line of Preflights: words in, words out."""
