package audit

import "sightline/internal/seo"

// Leased is the store of a run that was claimed.
func Leased(audits seo.Audits, lease seo.Lease) Store { return leased{audits, lease} }
