"""What tools/reproduce is made of: the thesis's experiments on the machine it is started on."""
