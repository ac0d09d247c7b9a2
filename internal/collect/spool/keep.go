package spool

// The log of SQLite takes what is written, in pages, until that is copied to the file and the log begins anew.
const (
	logBytes = 16 << 20 // the length from which on that is done
	perWrite = 3 * 4096 // about how much a write adds to the log besides its body
)

// log notes that so many bytes were written, and asks for the log to be emptied when it is long. The caller holds writing.
func (s *Spool) log(body int) {
	if s.logged += int64(body) + perWrite; s.logged < logBytes {
		return
	}
	select {
	case s.full <- struct{}{}:
	default:
	}
}

// keep empties the log whenever it is long, until the writer has ended. If the writer did it, appends would wait for it.
func (s *Spool) keep() {
	for {
		select {
		case <-s.done:
			return
		case <-s.full:
			if err := s.empty(); err != nil {
				s.failed.Store(&err)
			}
		}
	}
}

// empty copies the log to the file: nearly all of it while appends go on, and the rest while they wait, so that the next one finds it empty. While
// somebody reads, it is left for another time.
func (s *Spool) empty() error {
	const copyLog = `PRAGMA wal_checkpoint(PASSIVE)`
	if _, err := s.db.Exec(copyLog); err != nil {
		return kind(err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.db.Exec(copyLog)
	s.logged = 0
	return kind(err)
}
