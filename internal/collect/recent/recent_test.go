package recent

import "testing"

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	c := New[int, int](3)
	for i := range 100 {
		c.Put(i, -i)
		if got, found := c.Find(0); !found || got != 0 {
			t.Fatalf("after %d others, what was just used is forgotten", i)
		}
		if size := len(c.young) + len(c.old); size > 6 {
			t.Fatalf("%d values are kept, at most twice 3 may be", size)
		}
	}
	if _, found := c.Find(50); found {
		t.Error("a value that was not used for long is still there")
	}
	if got, found := c.Find(98); !found || got != -98 {
		t.Errorf("one of the last three: got %d, %v", got, found)
	}
}

func TestFindOrMakesOnce(t *testing.T) {
	c, made := New[string, int](10), 0
	for range 3 {
		if got := c.FindOr("a", func() int { made++; return 7 }); got != 7 {
			t.Errorf("got %d", got)
		}
	}
	if made != 1 {
		t.Errorf("made %d times, want once", made)
	}
}
