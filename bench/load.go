package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A call is one request of a load.
type call struct{ method, address, kind, body string }

// A result is what a load came to.
type result struct {
	perSecond float64
	p50, p99  time.Duration
}

// load sends requests from many callers until the time is over.
func load(ctx context.Context, s settings, clients int, key string, want int, next func(i int64) call) (result, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 2 * time.Minute}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var counter atomic.Int64
	times := make([][]time.Duration, clients)
	start := time.Now()
	var group sync.WaitGroup
	for worker := range clients {
		group.Go(func() {
			for ctx.Err() == nil && time.Since(start) < s.duration {
				request := next(counter.Add(1))
				if request.method == "" {
					return // nothing is left
				}
				began := time.Now()
				if err := send(ctx, client, key, want, request); err != nil {
					cancel(err)
					return
				}
				times[worker] = append(times[worker], time.Since(began))
			}
		})
	}
	group.Wait()
	took := time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return result{}, err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	return result{float64(len(all)) / took.Seconds(), all[len(all)/2], all[len(all)*99/100]}, nil
}

func send(ctx context.Context, client *http.Client, key string, want int, c call) error {
	request, err := http.NewRequestWithContext(ctx, c.method, c.address, strings.NewReader(c.body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if request.Header.Set("Content-Type", "application/x-www-form-urlencoded"); c.kind != "" {
		request.Header.Set("Content-Type", c.kind)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s %s answered %d: %.300s", c.method, c.address, response.StatusCode, body)
	}
	return nil
}
