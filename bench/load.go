package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A call is one request of a load.
type call struct{ method, address, kind, body string }

// A round is what one load came to.
type round struct {
	perSecond float64
	times     []time.Duration
}

// load sends requests from many callers until the time is over.
func load(ctx context.Context, d time.Duration, clients int, key string, want int, next func() call) (round, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 2 * time.Minute}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	times := make([][]time.Duration, clients)
	start := time.Now()
	var group sync.WaitGroup
	for worker := range clients {
		group.Go(func() {
			for ctx.Err() == nil && time.Since(start) < d {
				request := next()
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
	all := slices.Concat(times...)
	return round{float64(len(all)) / took.Seconds(), all}, context.Cause(ctx)
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
