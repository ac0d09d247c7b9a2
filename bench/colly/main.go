// Command colly crawls a site with the library of that name, as a program does that only wants to look at pages: it fetches
// them, parses them, and asks each for seven things. The bench measures audits beside it. It is a module of its own, so that the
// library is no part of the product.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	start := flag.String("start", "", "where the site is")
	most := flag.Int("most", 500, "how many pages")
	workers := flag.Int("workers", 8, "how many are fetched at once")
	flag.Parse()
	if err := run(*start, *most, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

// run crawls, and prints what it measured of itself.
func run(start string, most, workers int) error {
	began := time.Now()
	root, err := url.Parse(start)
	if err != nil {
		return err
	}
	pages := crawl(root, most, workers)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int64{"Pages": pages, "Took": int64(time.Since(began)),
		"CPU": usage.Utime.Nano() + usage.Stime.Nano(), "Memory": usage.Maxrss << 10})
}

// A crawler has one collector, which several workers call at once: left to itself, the library keeps a goroutine for each link.
type crawler struct {
	collector *colly.Collector
	host      string
	most      int
	mu        sync.Mutex
	more      *sync.Cond
	seen      map[string]bool
	queue     []string
	busy      int
	asked     int
	pages     atomic.Int64
	texts     atomic.Int64 // so that nothing that was selected is left unread
}

// crawl says how many pages it fetched.
func crawl(root *url.URL, most, workers int) int64 {
	c := &crawler{collector: colly.NewCollector(), host: root.Host, most: most, seen: map[string]bool{}}
	c.more = sync.NewCond(&c.mu)
	c.collector.WithTransport(&http.Transport{MaxIdleConnsPerHost: workers})
	c.collector.OnResponse(func(*colly.Response) { c.pages.Add(1) })
	c.collector.OnHTML("a[href]", func(e *colly.HTMLElement) { c.add(e.Request.AbsoluteURL(e.Attr("href"))) })
	for _, selector := range []string{"title", "h1", "html[lang]"} {
		c.collector.OnHTML(selector, func(e *colly.HTMLElement) { c.texts.Add(int64(len(e.Text))) })
	}
	for selector, attribute := range map[string]string{"meta[name=description]": "content", "link[rel=canonical]": "href", "img": "src"} {
		c.collector.OnHTML(selector, func(e *colly.HTMLElement) { c.texts.Add(int64(len(e.Attr(attribute)))) })
	}
	c.add(root.String())
	var group sync.WaitGroup
	for range workers {
		group.Go(c.work)
	}
	group.Wait()
	return c.pages.Load()
}

// add queues an address of the site that is new.
func (c *crawler) add(address string) {
	address, _, _ = strings.Cut(address, "#")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[address] {
		return
	}
	c.seen[address] = true
	if at, err := url.Parse(address); err == nil && at.Host == c.host {
		c.queue = append(c.queue, address)
		c.more.Signal()
	}
}

// work visits pages until there are no more, or enough.
func (c *crawler) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.queue) == 0 && c.busy > 0 {
			c.more.Wait()
		}
		if len(c.queue) == 0 || c.asked >= c.most {
			c.more.Broadcast()
			return
		}
		page := c.queue[0]
		c.queue = c.queue[1:]
		c.busy++
		c.asked++
		c.mu.Unlock()
		c.collector.Visit(page) // one that fails is not counted
		c.mu.Lock()
		c.busy--
		c.more.Broadcast()
	}
}
