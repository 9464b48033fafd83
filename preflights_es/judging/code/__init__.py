"""How source code is told from prose, one table a language.

A rule asks for what prose has not: punctuation in the grammar of a language, never a keyword alone
("import the users", "class of customers" and "SELECT one reviewer" are prose). All repetitions are
bounded or possessive, so that a search is linear, and the first letters of a rule are literal where
that can be, so that it is fast.
"""
