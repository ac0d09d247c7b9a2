package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sightline/internal/fault"
	"sightline/internal/seo"
)

const (
	leaseTime  = 10 * time.Second // after which another server takes over the run of a dead one
	renewEvery = 2 * time.Second  // also how soon an audit hears that it is to stop
	lookEvery  = time.Second      // for runs that other servers have queued; own ones wake the queue
	endTime    = 10 * time.Second // for the last word to the store when the program ends
)

// A Queue makes the audits that wait, a few at a time.
type Queue struct {
	auditor *Auditor
	audits  seo.Audits
	workers int
	now     func() time.Time
	log     *slog.Logger
	wake    chan struct{}
}

// NewQueue makes a queue that makes so many audits at once.
func NewQueue(auditor *Auditor, audits seo.Audits, workers int, now func() time.Time, log *slog.Logger) *Queue {
	return &Queue{auditor: auditor, audits: audits, workers: workers, now: now, log: log, wake: make(chan struct{}, 1)}
}

// Wake has the queue look for work at once.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

// Run makes audits until ctx ends. Those under way are then given back, for another server or for the next start to go on with.
func (q *Queue) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, q.workers)
	for range q.workers {
		free <- struct{}{}
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-free:
		case <-ctx.Done():
			return
		}
		job, found := q.next(ctx)
		if found {
			group.Go(func() {
				q.work(ctx, job)
				free <- struct{}{}
			})
			continue
		}
		free <- struct{}{}
		select {
		case <-ticker.C:
		case <-q.wake:
		case <-ctx.Done():
			return
		}
	}
}

// next claims a run, if there is one.
func (q *Queue) next(ctx context.Context) (seo.Job, bool) {
	now := q.now()
	job, err := q.audits.ClaimAudit(ctx, rand.Text(), now, now.Add(leaseTime))
	if err != nil && !errors.Is(err, fault.NotFound) && ctx.Err() == nil {
		q.log.Warn("no audit could be claimed; it is tried again", "error", err)
	}
	return job, err == nil
}

// work makes the audit of a run and stores what came of it.
func (q *Queue) work(ctx context.Context, job seo.Job) {
	log := q.log.With("report", job.Report.ID, "run", job.Report.Run, "url", job.Report.URL)
	log.Info("an audit begins", "resumed", job.Totals.Pages > 0)
	running, cancel := context.WithCancel(ctx)
	stop := make(chan struct{})
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		q.renew(running, cancel, job.Lease, stop, log)
	}()
	result, err := q.auditor.run(running, Task{Report: job.Report, Site: job.Site, Store: leased{q.audits, job.Lease}, Stop: stop})
	lost := running.Err() != nil && ctx.Err() == nil
	cancel()
	<-renewed
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	switch {
	case lost || errors.Is(err, seo.ErrLeaseLost):
		log.Info("an audit ends here: it was taken over or deleted")
		return
	case ctx.Err() != nil && err != nil:
		if _, err := q.audits.RenewAudit(ending, job.Lease, q.now()); err != nil && !errors.Is(err, seo.ErrLeaseLost) {
			log.Warn("an audit could not be given back; it goes on when its lease ends", "error", err)
		}
		return
	case errors.Is(err, fault.Unavailable), errors.Is(err, fault.Full):
		log.Warn("an audit could not be stored; it goes on when its lease ends", "error", err)
		return
	case err != nil:
		log.Error("an audit failed", "error", err)
		result = Result{State: seo.Failed, Outcome: seo.Outcome{Failure: "The audit broke down on the server. Its log tells more."}}
	}
	if err := q.audits.FinishAudit(ending, job.Lease, result.State, result.Outcome, q.now()); err != nil {
		log.Warn("the end of an audit could not be stored; it goes on when its lease ends", "error", err)
		return
	}
	log.Info("an audit ended", "state", result.State, "pages", result.Pages, "stopped_by", result.StoppedBy)
}

// run is Run for pages from anywhere: what breaks the program on one of them must not end it.
func (a *Auditor) run(ctx context.Context, t Task) (result Result, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the audit of %s broke down: %v", t.Report.URL, broken)
		}
	}()
	return a.Run(ctx, t)
}

// renew keeps the lease until ctx ends. It closes stop when the owner wants the audit to end, and cancels when the lease is lost.
func (q *Queue) renew(ctx context.Context, cancel context.CancelFunc, lease seo.Lease, stop chan struct{}, log *slog.Logger) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	until, stopped := q.now().Add(leaseTime), false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := q.now()
		stopping, err := q.audits.RenewAudit(ctx, lease, now.Add(leaseTime))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, seo.ErrLeaseLost), err != nil && now.After(until):
			cancel()
			return
		case err != nil:
			log.Warn("the lease of an audit could not be renewed; it is tried again", "error", err)
			continue
		}
		until = now.Add(leaseTime)
		if stopping && !stopped {
			stopped = true
			close(stop)
		}
	}
}
