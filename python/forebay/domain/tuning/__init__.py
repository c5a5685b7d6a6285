"""What a file system likes, what a program does, and which settings follow: values and rules."""
