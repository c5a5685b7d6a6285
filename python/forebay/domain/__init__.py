"""What things are: values and rules, without a file, a process or a clock."""
