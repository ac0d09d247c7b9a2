package referrer

// brands are sources with a domain in many countries.
var brands = map[string]source{
	"google": {"Google", Search}, "yahoo": {"Yahoo", Search}, "yandex": {"Yandex", Search}, "bing": {"Bing", Search},
	"qwant": {"Qwant", Search}, "ecosia": {"Ecosia", Search}, "startpage": {"Startpage", Search}, "seznam": {"Seznam", Search},
	"facebook": {"Facebook", Social}, "instagram": {"Instagram", Social}, "pinterest": {"Pinterest", Social}, "linkedin": {"LinkedIn", Social},
	"tiktok": {"TikTok", Social}, "reddit": {"Reddit", Social}, "youtube": {"YouTube", Social}, "twitter": {"X", Social},
}

// names are how links name sources, besides brands.
var names = map[string]source{
	"fb": {"Facebook", Social}, "ig": {"Instagram", Social}, "x": {"X", Social}, "li": {"LinkedIn", Social}, "yt": {"YouTube", Social},
	"whatsapp": {"WhatsApp", Social}, "telegram": {"Telegram", Social}, "mastodon": {"Mastodon", Social}, "bluesky": {"Bluesky", Social},
	"threads": {"Threads", Social}, "hackernews": {"Hacker News", Social}, "hn": {"Hacker News", Social}, "discord": {"Discord", Social},
	"duckduckgo": {"DuckDuckGo", Search}, "baidu": {"Baidu", Search}, "brave": {"Brave Search", Search},
	"newsletter": {"newsletter", Email}, "email": {"email", Email}, "gmail": {"Gmail", Email}, "outlook": {"Outlook", Email}, "mailchimp": {"Mailchimp", Email},
	"chatgpt": {"ChatGPT", AI}, "openai": {"ChatGPT", AI}, "perplexity": {"Perplexity", AI}, "claude": {"Claude", AI}, "gemini": {"Gemini", AI}, "copilot": {"Copilot", AI},
}

// hosts are sources by domain; a domain stands for those below it too, unless they have a row of their own.
var hosts = map[string]source{
	// search engines
	"duckduckgo.com": {"DuckDuckGo", Search}, "search.brave.com": {"Brave Search", Search}, "baidu.com": {"Baidu", Search}, "sogou.com": {"Sogou", Search},
	"so.com": {"360 Search", Search}, "search.naver.com": {"Naver", Search}, "naver.com": {"Naver", Search}, "daum.net": {"Daum", Search},
	"kagi.com": {"Kagi", Search}, "mojeek.com": {"Mojeek", Search}, "swisscows.com": {"Swisscows", Search}, "metager.de": {"MetaGer", Search}, "metager.org": {"MetaGer", Search},
	"search.aol.com": {"AOL", Search}, "ask.com": {"Ask", Search}, "lycos.com": {"Lycos", Search}, "dogpile.com": {"Dogpile", Search}, "gibiru.com": {"Gibiru", Search},
	"search.yahoo.co.jp": {"Yahoo Japan", Search}, "goo.ne.jp": {"goo", Search}, "coccoc.com": {"Coc Coc", Search}, "petalsearch.com": {"Petal Search", Search},
	"presearch.com": {"Presearch", Search}, "searx.be": {"SearXNG", Search}, "t-online.de": {"T-Online", Search}, "suche.web.de": {"Web.de", Search}, "suche.gmx.net": {"GMX", Search},
	"go.mail.ru": {"Mail.ru Search", Search}, "nova.rambler.ru": {"Rambler", Search}, "ya.ru": {"Yandex", Search}, "sm.cn": {"Shenma", Search},
	"search.google.com": {"Google", Search}, "wolframalpha.com": {"Wolfram Alpha", Search}, "oceanhero.today": {"OceanHero", Search},
	"com.google.android.googlequicksearchbox": {"Google", Search}, "com.duckduckgo.mobile.android": {"DuckDuckGo", Search},
	// social networks, forums, messengers
	"t.co": {"X", Social}, "x.com": {"X", Social}, "fb.com": {"Facebook", Social}, "fb.me": {"Facebook", Social}, "m.me": {"Messenger", Social},
	"messenger.com": {"Messenger", Social}, "threads.net": {"Threads", Social}, "threads.com": {"Threads", Social}, "lnkd.in": {"LinkedIn", Social}, "pin.it": {"Pinterest", Social},
	"youtu.be": {"YouTube", Social}, "redd.it": {"Reddit", Social}, "old.reddit.com": {"Reddit", Social}, "news.ycombinator.com": {"Hacker News", Social},
	"lobste.rs": {"Lobsters", Social}, "vk.com": {"VK", Social}, "vk.ru": {"VK", Social}, "ok.ru": {"OK", Social}, "weibo.com": {"Weibo", Social}, "weibo.cn": {"Weibo", Social},
	"zhihu.com": {"Zhihu", Social}, "douban.com": {"Douban", Social}, "xiaohongshu.com": {"Xiaohongshu", Social}, "bilibili.com": {"Bilibili", Social}, "douyin.com": {"Douyin", Social},
	"wechat.com": {"WeChat", Social}, "weixin.qq.com": {"WeChat", Social}, "qzone.qq.com": {"Qzone", Social}, "quora.com": {"Quora", Social}, "tumblr.com": {"Tumblr", Social},
	"snapchat.com": {"Snapchat", Social}, "discord.com": {"Discord", Social}, "discordapp.com": {"Discord", Social}, "discord.gg": {"Discord", Social}, "t.me": {"Telegram", Social},
	"telegram.org": {"Telegram", Social}, "telegram.me": {"Telegram", Social}, "web.telegram.org": {"Telegram", Social}, "whatsapp.com": {"WhatsApp", Social}, "wa.me": {"WhatsApp", Social},
	"slack.com": {"Slack", Social}, "teams.microsoft.com": {"Microsoft Teams", Social}, "line.me": {"Line", Social}, "viber.com": {"Viber", Social}, "signal.org": {"Signal", Social},
	"bsky.app": {"Bluesky", Social}, "bsky.social": {"Bluesky", Social}, "mastodon.social": {"Mastodon", Social}, "mastodon.online": {"Mastodon", Social}, "mstdn.social": {"Mastodon", Social},
	"fosstodon.org": {"Mastodon", Social}, "hachyderm.io": {"Mastodon", Social}, "lemmy.world": {"Lemmy", Social}, "lemmy.ml": {"Lemmy", Social}, "pixelfed.social": {"Pixelfed", Social},
	"gab.com": {"Gab", Social}, "truthsocial.com": {"Truth Social", Social}, "parler.com": {"Parler", Social}, "xing.com": {"XING", Social}, "meetup.com": {"Meetup", Social},
	"nextdoor.com": {"Nextdoor", Social}, "flipboard.com": {"Flipboard", Social}, "medium.com": {"Medium", Social}, "dev.to": {"DEV", Social}, "hashnode.com": {"Hashnode", Social},
	"stackoverflow.com": {"Stack Overflow", Social}, "stackexchange.com": {"Stack Exchange", Social}, "slashdot.org": {"Slashdot", Social}, "producthunt.com": {"Product Hunt", Social},
	"indiehackers.com": {"Indie Hackers", Social}, "vimeo.com": {"Vimeo", Social}, "dailymotion.com": {"Dailymotion", Social}, "twitch.tv": {"Twitch", Social}, "flickr.com": {"Flickr", Social},
	"deviantart.com": {"DeviantArt", Social}, "behance.net": {"Behance", Social}, "dribbble.com": {"Dribbble", Social}, "goodreads.com": {"Goodreads", Social}, "livejournal.com": {"LiveJournal", Social},
	"disqus.com": {"Disqus", Social}, "skype.com": {"Skype", Social}, "imgur.com": {"Imgur", Social}, "kakao.com": {"KakaoTalk", Social}, "mixi.jp": {"mixi", Social}, "ameblo.jp": {"Ameba", Social},
	"com.twitter.android": {"X", Social}, "com.facebook.katana": {"Facebook", Social}, "com.instagram.android": {"Instagram", Social}, "com.linkedin.android": {"LinkedIn", Social},
	"com.reddit.frontpage": {"Reddit", Social}, "com.pinterest": {"Pinterest", Social}, "com.slack": {"Slack", Social}, "org.telegram.messenger": {"Telegram", Social},
	"com.whatsapp": {"WhatsApp", Social}, "com.discord": {"Discord", Social}, "com.zhiliaoapp.musically": {"TikTok", Social}, "org.joinmastodon.android": {"Mastodon", Social},
	// mail
	"mail.google.com": {"Gmail", Email}, "gmail.com": {"Gmail", Email}, "outlook.live.com": {"Outlook", Email}, "outlook.office.com": {"Outlook", Email}, "outlook.office365.com": {"Outlook", Email},
	"outlook.com": {"Outlook", Email}, "hotmail.com": {"Outlook", Email}, "mail.yahoo.com": {"Yahoo Mail", Email}, "mail.yahoo.co.jp": {"Yahoo Mail", Email}, "mail.aol.com": {"AOL Mail", Email},
	"mail.proton.me": {"Proton Mail", Email}, "mail.protonmail.com": {"Proton Mail", Email}, "fastmail.com": {"Fastmail", Email}, "mail.zoho.com": {"Zoho Mail", Email}, "tutanota.com": {"Tuta", Email},
	"mail.tutanota.com": {"Tuta", Email}, "app.tuta.com": {"Tuta", Email}, "mail.yandex.ru": {"Yandex Mail", Email}, "mail.yandex.com": {"Yandex Mail", Email}, "e.mail.ru": {"Mail.ru", Email},
	"mail.ru": {"Mail.ru", Email}, "mail.qq.com": {"QQ Mail", Email}, "mail.163.com": {"163 Mail", Email}, "navigator.web.de": {"Web.de Mail", Email}, "navigator.gmx.net": {"GMX Mail", Email},
	"deref-gmx.net": {"GMX Mail", Email}, "deref-web.de": {"Web.de Mail", Email}, "mail.google": {"Gmail", Email}, "app.hey.com": {"HEY", Email}, "mail.naver.com": {"Naver Mail", Email},
	"icloud.com": {"iCloud Mail", Email}, "webmail.freenet.de": {"freenet Mail", Email}, "email.t-online.de": {"T-Online Mail", Email}, "mail.libero.it": {"Libero Mail", Email},
	"com.google.android.gm": {"Gmail", Email}, "com.microsoft.office.outlook": {"Outlook", Email}, "com.yahoo.mobile.client.android.mail": {"Yahoo Mail", Email}, "ch.protonmail.android": {"Proton Mail", Email},
	"list-manage.com": {"Mailchimp", Email}, "campaign-archive.com": {"Mailchimp", Email}, "substack.com": {"Substack", Email}, "beehiiv.com": {"beehiiv", Email}, "buttondown.email": {"Buttondown", Email},
	// AI assistants
	"chatgpt.com": {"ChatGPT", AI}, "chat.openai.com": {"ChatGPT", AI}, "openai.com": {"ChatGPT", AI}, "perplexity.ai": {"Perplexity", AI}, "claude.ai": {"Claude", AI},
	"gemini.google.com": {"Gemini", AI}, "bard.google.com": {"Gemini", AI}, "notebooklm.google.com": {"NotebookLM", AI}, "aistudio.google.com": {"Google AI Studio", AI},
	"copilot.microsoft.com": {"Copilot", AI}, "copilot.cloud.microsoft": {"Copilot", AI}, "m365.cloud.microsoft": {"Copilot", AI}, "you.com": {"You.com", AI}, "poe.com": {"Poe", AI},
	"deepseek.com": {"DeepSeek", AI}, "chat.deepseek.com": {"DeepSeek", AI}, "grok.com": {"Grok", AI}, "x.ai": {"Grok", AI}, "mistral.ai": {"Mistral", AI}, "chat.mistral.ai": {"Mistral", AI},
	"meta.ai": {"Meta AI", AI}, "phind.com": {"Phind", AI}, "pi.ai": {"Pi", AI}, "character.ai": {"Character.AI", AI}, "huggingface.co": {"Hugging Face", AI}, "kimi.com": {"Kimi", AI},
	"kimi.moonshot.cn": {"Kimi", AI}, "doubao.com": {"Doubao", AI}, "chat.qwen.ai": {"Qwen", AI}, "tongyi.aliyun.com": {"Qwen", AI}, "yiyan.baidu.com": {"Ernie", AI}, "andisearch.com": {"Andi", AI},
	"duck.ai": {"Duck.ai", AI}, "lumo.proton.me": {"Lumo", AI}, "consensus.app": {"Consensus", AI}, "elicit.com": {"Elicit", AI}, "com.openai.chatgpt": {"ChatGPT", AI}, "ai.perplexity.app.android": {"Perplexity", AI},
}
