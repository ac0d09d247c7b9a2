// The tracker: counts views of the page that it is on. No cookies, nothing is stored in the browser.
// scripts/tracker makes s.js of it, which is what pages load. docs/analytics.md lists the attributes of the script element.
(() => {
  let {src, dataset: options} = document.currentScript
  let queue = window.sightline?.q || [] // what the page reported before this script was there

  // Pages on their author's own machine are not counted, nor people who do not want it.
  let refused = !('local' in options) && /^(|.*localhost|127[.\d]+|\[::1])$/.test(location.hostname) ||
    'dnt' in options && (navigator.doNotTrack == 1 || navigator.globalPrivacyControl)

  let page // address of the page that is counted; none before the first
  let referrer // where its reader came from
  let since // when it came into view; 0 while it is not
  let depth // the farthest that was read, in percent

  let send = (name, fields) => navigator.sendBeacon(new URL('../api/event', src), JSON.stringify(
    {s: options.site, n: name, u: page, r: referrer, h: options.hash, w: screen.width, ...fields}))

  // sightline reports an event of the page's own: sightline('signup', {plan: 'pro'}, 49.9).
  window.sightline = (name, p, v) => page ? send(name, {p, v}) : refused || queue.push([name, p, v])

  // view counts the page in view if it is another than before. A page that the browser opens ahead, or behind another, counts
  // when it is shown.
  let view = event => {
    let address = location.href.replace('hash' in options ? '' : /#.*/, '')
    if (event?.persisted) page = since = 0 // it comes back as it was left: another view of it
    if (document.hidden) return leave()
    if (address != page) {
      leave()
      referrer = page || document.referrer
      page = address
      depth = 0
      send('pageview')
      for (let event of queue.splice(0)) sightline(...event)
    }
    since ||= Date.now()
  }

  // leave reports how long the page was in view since the last report, and how far it was read.
  let leave = () => {
    if (since) {
      scrolled()
      send('engagement', {e: Date.now() - since, d: depth})
    }
    since = 0
  }

  let scrolled = () => {
    depth = Math.max(depth, (scrollY + innerHeight) / document.scrollingElement.scrollHeight * 100)
  }

  // clicked reports a link to a file or to another site, however it is opened.
  let clicked = event => {
    let link = event.button < 2 && event.target.closest('a')
    if (!link) return
    if (RegExp('\\.(' + options.downloads + ')$', 'i').test(link.pathname)) sightline('download', {url: link.href})
    else if ('outbound' in options && link.host && link.host != location.host) sightline('outbound', {url: link.href})
  }

  if (refused) return
  for (let name of ['pushState', 'replaceState']) {
    let original = history[name]
    history[name] = (...state) => view(original.call(history, ...state))
  }
  addEventListener('popstate', view)
  addEventListener('pageshow', view)
  addEventListener('visibilitychange', view)
  addEventListener('pagehide', leave)
  addEventListener('scroll', scrolled)
  addEventListener('click', clicked)
  addEventListener('auxclick', clicked)
  view()
})()
