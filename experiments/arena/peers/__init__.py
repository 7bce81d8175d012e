"""Other people's tools: each file is a script that the tool's own Python runs. None of them imports superlevel."""
