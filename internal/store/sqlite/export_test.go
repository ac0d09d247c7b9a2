package sqlite

// SearchAllByIndex makes every account one that is searched by index.
func (db *DB) SearchAllByIndex() { db.largeAccount = 0 }
