package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A wire is a connection that sends requests made ahead, and looks at no more than the status of the answers: on few cores a client that
// does more takes from the server what is to be measured.
type wire struct {
	conn    net.Conn
	answers *bufio.Reader
}

func dial(ctx context.Context, base string) (*wire, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, err
	}
	return &wire{conn, bufio.NewReaderSize(conn, 2048)}, nil
}

// exchange sends a request and returns the status of the answer.
func (w *wire) exchange(request []byte) (status int, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := w.answers.ReadSlice('\n')
	if err != nil || len(line) < len("HTTP/1.1 200") {
		return 0, errors.Join(err, fmt.Errorf("an answer that begins with %q", line))
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length := 0
	for {
		line, err = w.answers.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	_, err = io.CopyN(io.Discard, w.answers, int64(length))
	return status, err
}

// A push is what hits came to.
type push struct {
	round
	accepted, refused int
}

// note counts an answer. Only accepted hits are timed.
func (p *push) note(status int, took time.Duration) error {
	switch status {
	case http.StatusAccepted:
		p.accepted++
		p.times = append(p.times, took)
	case http.StatusServiceUnavailable:
		p.refused++
	default:
		return fmt.Errorf("a hit is answered with %d", status)
	}
	return nil
}

// pushAll sends hits on so many wires at once until the time is over, each as soon as the one before is answered.
func pushAll(ctx context.Context, base string, wires int, d time.Duration, hits [][]byte) (push, error) {
	var next atomic.Int64
	began := time.Now()
	return onWires(ctx, base, wires, func(w *wire, note func(int, time.Duration) error) error {
		for time.Since(began) < d && ctx.Err() == nil {
			sent := time.Now()
			status, err := w.exchange(hits[int(next.Add(1))%len(hits)])
			if err != nil {
				return err
			}
			if err := note(status, time.Since(sent)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pushAt sends so many hits in each second, whenever the answers come. A hit that no wire was free for is as late as it was sent.
func pushAt(ctx context.Context, base string, wires, perSecond int, d time.Duration, hits [][]byte) (push, error) {
	type due struct {
		at  time.Time
		hit []byte
	}
	all := int(d.Seconds() * float64(perSecond))
	queue := make(chan due, all)
	go func() {
		defer close(queue)
		began := time.Now()
		for i := range all {
			at := began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
			time.Sleep(time.Until(at))
			queue <- due{at, hits[i%len(hits)]}
		}
	}()
	return onWires(ctx, base, wires, func(w *wire, note func(int, time.Duration) error) error {
		for next := range queue {
			status, err := w.exchange(next.hit)
			if err != nil {
				return err
			}
			if err := note(status, time.Since(next.at)); err != nil {
				return err
			}
		}
		return nil
	})
}

// onWires uses many wires at once and sums up what they note.
func onWires(ctx context.Context, base string, wires int, use func(w *wire, note func(status int, took time.Duration) error) error) (push, error) {
	sums := make([]push, wires)
	failed := make([]error, wires)
	began := time.Now()
	var group sync.WaitGroup
	for i := range wires {
		group.Go(func() {
			w, err := dial(ctx, base)
			if err != nil {
				failed[i] = err
				return
			}
			defer w.conn.Close()
			failed[i] = use(w, sums[i].note)
		})
	}
	group.Wait()
	took := time.Since(began)
	var all push
	for _, sum := range sums {
		all.accepted, all.refused, all.times = all.accepted+sum.accepted, all.refused+sum.refused, append(all.times, sum.times...)
	}
	all.perSecond = float64(all.accepted) / took.Seconds()
	return all, errors.Join(failed...)
}
