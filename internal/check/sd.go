package check

import "sightline/internal/seo"

func sdParseError(p *seo.Page, _ *Row) hit { return sample(p.BadData, "error") }
