package postgres

import (
	"context"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

const (
	sampleBlocks = 8    // of a table, of some dozens of rows each, tell which parts of a term are common
	sampleRows   = 400  // at the most
	common       = 0.05 // a part of a term is common when so large a share of the rows has it
)

// core is the part of a term that trigrams find fast. Of a term such as www.shop.com they would read long lists for www and com,
// which lead nowhere; a sample of the table shows which parts are like that.
func (s shelf[T]) core(ctx context.Context, db *DB, term string) (string, error) {
	var sample []string
	if len([]rune(term)) > 3 {
		query := `
			SELECT ` + s.trigrams + `
			FROM ` + s.table + ` TABLESAMPLE SYSTEM (least(100, 100.0 * @blocks * 8192 / greatest(1, pg_relation_size('` + s.table + `'))))
			LIMIT @rows`
		rows, err := db.pool.Query(ctx, query, pgx.NamedArgs{"blocks": sampleBlocks, "rows": sampleRows})
		if err != nil {
			return "", err
		}
		if sample, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return "", err
		}
	}
	return rarest(term, sample), nil
}

// rarest is the longest part of a term of which any three letters are in few rows of a sample; the term itself, if there is none.
func rarest(term string, sample []string) string {
	letters := []rune(term)
	var best, run []rune
	for i := range len(letters) - 2 {
		if isCommon(string(letters[i:i+3]), sample) {
			run = nil
			continue
		}
		if run == nil {
			run = letters[i : i+2 : len(letters)]
		}
		run = run[:len(run)+1]
		if len(run) > len(best) {
			best = run
		}
	}
	if n := len(best); n > 3 && separates(best[n-2]) {
		best = best[:n-1] // the first letter of a word is one of few
	}
	if best == nil {
		return term
	}
	return string(best)
}

func isCommon(part string, sample []string) bool {
	n := 0
	for _, text := range sample {
		if strings.Contains(text, part) {
			n++
		}
	}
	return float64(n) > common*float64(len(sample))
}

// separates says whether a letter is between words for trigrams.
func separates(letter rune) bool { return !unicode.IsLetter(letter) && !unicode.IsDigit(letter) }

// containing is the pattern of a text that has a part, for LIKE, which uses the trigrams.
func containing(part string) string {
	return `%` + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part) + `%`
}
