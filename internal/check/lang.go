package check

import (
	"strings"

	"golang.org/x/text/language"

	"sightline/internal/seo"
)

func langMissing(p *seo.Page, _ *Row) hit {
	root := p.Root
	if root == "" {
		root = "no <html> tag"
	}
	switch lang := strings.TrimSpace(p.Lang); {
	case lang == "":
		return fail("missing", root)
	case !validLanguage(lang):
		return fail(lang, root)
	}
	return hit{}
}

// validLanguage says that a tag follows BCP 47 and that its parts are registered.
func validLanguage(tag string) bool {
	_, err := language.Parse(tag)
	return err == nil && !strings.Contains(tag, "_")
}
