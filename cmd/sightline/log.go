package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// newLogger writes to w in one of config.LogFormats what is of one of config.LogLevels or above.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	least := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[level]
	options := &slog.HandlerOptions{Level: least}
	switch {
	case format == "json":
		return slog.New(slog.NewJSONHandler(w, options))
	case format == "auto" && isTerminal(w):
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: least, TimeFormat: "15:04:05", NoColor: os.Getenv("NO_COLOR") != ""}))
	default:
		return slog.New(slog.NewTextHandler(w, options))
	}
}

// isTerminal says whether a person reads what is written.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
