"""What the measurements say about every direction, and with which confidence."""
