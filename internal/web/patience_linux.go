package web

import "syscall"

// tcpUserTimeout is the socket option TCP_USER_TIMEOUT, in milliseconds.
const tcpUserTimeout = 0x12

// bounded lets the kernel drop a connection whose other end does not take what was sent to it. The program would not notice: an
// answer that the kernel has buffered is done.
func bounded(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(answerTime.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
