package memory_test

import (
	"testing"
	"time"

	"sightline/internal/store"
	"sightline/internal/store/memory"
	"sightline/internal/store/storetest"
)

func TestEvents(t *testing.T) {
	storetest.RunEvents(t, func(t *testing.T, now func() time.Time) store.Events { return memory.OpenEvents(now) })
}
