package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// bareWorkers is how many pages are fetched at once, by both.
const bareWorkers = 8

// bareCrawl is the least that a crawler must do: fetch pages, parse them, follow the links on their host. It checks nothing and
// keeps nothing but which addresses it has seen.
func bareCrawl(ctx context.Context, start string, most int) (int, error) {
	root, err := url.Parse(start)
	if err != nil {
		return 0, err
	}
	c := &bareCrawler{host: root.Host, most: most, seen: map[string]bool{start: true}, queue: []string{start},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareWorkers}}}
	c.more = sync.NewCond(&c.mu)
	var group sync.WaitGroup
	for range bareWorkers {
		group.Go(func() { c.work(ctx) })
	}
	group.Wait()
	return c.fetched, ctx.Err()
}

type bareCrawler struct {
	client  *http.Client
	host    string
	most    int
	mu      sync.Mutex
	more    *sync.Cond
	seen    map[string]bool
	queue   []string
	busy    int
	fetched int
}

// work fetches pages until there are no more, or enough.
func (c *bareCrawler) work(ctx context.Context) {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && c.busy > 0 {
			c.more.Wait()
		}
		if len(c.queue) == 0 || c.fetched >= c.most || ctx.Err() != nil {
			c.more.Broadcast()
			c.mu.Unlock()
			return
		}
		page := c.queue[0]
		c.queue = c.queue[1:]
		c.busy++
		c.fetched++
		c.mu.Unlock()
		links := c.fetch(ctx, page)
		c.mu.Lock()
		for _, link := range links {
			if !c.seen[link] {
				c.seen[link] = true
				c.queue = append(c.queue, link)
			}
		}
		c.busy--
		c.more.Broadcast()
		c.mu.Unlock()
	}
}

// fetch is the links of a page.
func (c *bareCrawler) fetch(ctx context.Context, page string) (links []string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	tree, err := html.Parse(response.Body)
	if err != nil {
		return nil
	}
	for node := range tree.Descendants() {
		for _, attribute := range node.Attr {
			if node.Data != "a" || attribute.Key != "href" {
				continue
			}
			if to, err := response.Request.URL.Parse(attribute.Val); err == nil && to.Host == c.host {
				to.Fragment = ""
				links = append(links, to.String())
			}
		}
	}
	return links
}
