package guard

// Verdict is why a connection to an address with its port would be refused; empty if it would not.
func Verdict(r Rules, to string) Kind {
	network := "tcp4"
	if to[0] == '[' {
		network = "tcp6"
	}
	if failure := explainGuard(r.control(network, to, nil)); failure != nil {
		return failure.Kind
	}
	return ""
}
