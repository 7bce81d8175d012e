"""The arena: our methods and other people's tools on the same problems, with everything estimated by each tool."""
