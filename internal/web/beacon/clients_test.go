package beacon_test

import (
	"testing"

	"sightline/internal/web/beacon"
)

// clients lets pages import the npm packages by name.
const clients = `<script type=importmap>{"imports": {"plausible-tracker": "/clients/plausible-tracker/build/module/index.js",
	"@plausible-analytics/tracker": "/clients/@plausible-analytics/tracker/plausible.js"}}</script>`

func TestPlausibleTracker(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": clients + `<a id=link href="/#away">link</a><script type=module>
		import Plausible from 'plausible-tracker'
		const tracker = Plausible({domain: 'site.test', apiHost: '{stats}'})
		tracker.enableAutoPageviews()
		window.track = (name, props) => new Promise(callback => tracker.trackEvent(name, {props, callback}))
		window.ready = true
	</script>`})
	v.open("/?q=1")
	v.do(`new Promise(function poll(done) { window.ready ? done() : setTimeout(poll, 5, done) })`)
	v.do(`history.pushState({}, '', '/second')`)
	v.do(`track('Signup', {plan: 'pro', seats: 3})`)
	v.want("pageview /?q=1", "pageview /second", "Signup /second plan=pro seats=3")
	for _, hit := range v.hits(3) {
		if hit.Domain != "site.test" || hit.Site != "" || hit.Screen == "" || hit.Agent != agent || !hit.Address.IsLoopback() {
			t.Errorf("%+v", hit)
		}
	}
}

func TestPlausibleAnalyticsTracker(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": clients + `<div style="height: 4000px"></div>
		<a id=outer href="http://other.test/">outer</a><a id=file href="/report.pdf">file</a><form id=form></form>
		<script type=module>
		import {init, track} from '@plausible-analytics/tracker'
		for (const type of ['click', 'submit']) addEventListener(type, event => event.preventDefault())
		init({domain: 'site.test', endpoint: '{stats}/api/event', outboundLinks: true, fileDownloads: true, formSubmissions: true, customProperties: {author: 'Ada'}})
		window.report = (name, options) => new Promise(callback => track(name, {...options, callback}))
		window.ready = true
	</script>`, "/other": ""})
	v.open("/")
	v.do(`new Promise(function poll(done) { window.ready ? done() : setTimeout(poll, 5, done) })`)
	status := v.do(`report('Purchase', {props: {plan: 'pro'}, revenue: {currency: 'EUR', amount: 12.5}, interactive: false}).then(answer => answer.status)`)
	if status != 202.0 {
		t.Errorf("the client saw %v", status)
	}
	v.do(`document.getElementById('outer').click(); document.getElementById('file').click(); document.getElementById('form').requestSubmit()`)
	v.do(`history.pushState({}, '', '/second')`)
	v.want("pageview / author=Ada", "Purchase / author=Ada plan=pro 12.5EUR", "Outbound Link: Click / author=Ada url=http://other.test/",
		"File Download / author=Ada url=/report.pdf", "Form: Submission / author=Ada", "engagement / author=Ada", "pageview /second author=Ada")
	for _, hit := range v.hits(7) {
		if hit.Domain != "site.test" || hit.Agent != agent {
			t.Errorf("%+v", hit)
		}
	}
	if hit := v.hits(1, "engagement")[0]; hit.Depth < 5 || hit.Depth > 50 {
		t.Errorf("%+v", hit)
	}
}
