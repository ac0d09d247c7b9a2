// Package collect turns what clients report into stored events: a hit passes the steps, becomes part of a visit, is
// synced to the spool, is answered, and reaches the events store in batches, exactly once.
package collect
