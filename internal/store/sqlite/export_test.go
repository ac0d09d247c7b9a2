package sqlite

// SearchAllByIndex makes every account one that is searched by index, and has the index follow the newest rows closely.
func (db *DB) SearchAllByIndex() error {
	db.largeAccount = 0
	_, err := db.write.Exec(`UPDATE indexed SET batch = 3`)
	return err
}
