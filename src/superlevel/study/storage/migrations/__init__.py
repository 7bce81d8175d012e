"""How the tables of a store came to be, one revision after another."""
