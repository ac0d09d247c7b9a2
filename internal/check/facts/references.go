package facts

import "strings"

// canonicalTargets reads the targets of rel=canonical out of a Link header.
func canonicalTargets(header string) []string {
	var targets []string
	for header != "" && len(targets) < maxElements {
		open := strings.IndexByte(header, '<')
		if open < 0 {
			break
		}
		target, params, found := strings.Cut(header[open+1:], ">")
		if !found {
			break
		}
		var canonical bool
		canonical, header = linkParams(params)
		if canonical {
			targets = append(targets, strings.TrimSpace(target))
		}
	}
	return targets
}

// linkParams reads the parameters of one link up to the comma that ends it, and returns what follows. The first rel counts.
func linkParams(text string) (canonical bool, rest string) {
	seen := false
	for text = strings.TrimLeft(text, " \t"); strings.HasPrefix(text, ";"); text = strings.TrimLeft(text, " \t") {
		end := strings.IndexAny(text[1:], "=;,") + 1
		if end == 0 {
			return canonical, ""
		}
		name := strings.TrimSpace(text[1:end])
		text = text[end:]
		value := ""
		if strings.HasPrefix(text, "=") {
			value, text = paramValue(strings.TrimLeft(text[1:], " \t"))
		}
		if strings.EqualFold(name, "rel") && !seen {
			seen, canonical = true, hasWord(value, "canonical")
		}
	}
	if comma := strings.IndexByte(text, ','); comma >= 0 {
		return canonical, text[comma+1:]
	}
	return canonical, ""
}

// paramValue reads a token or a quoted string and returns what follows it.
func paramValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		if end := strings.IndexAny(text, ";,"); end >= 0 {
			return strings.TrimSpace(text[:end]), text[end:]
		}
		return strings.TrimSpace(text), ""
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], text[i+1:]
		}
	}
	return text[1:], ""
}

// hasWord says whether a word is among those that white space parts, in any case.
func hasWord(text, word string) bool {
	for field := range strings.FieldsSeq(text) {
		if strings.EqualFold(field, word) {
			return true
		}
	}
	return false
}

// srcsetTargets reads the addresses of a srcset, as browsers do: an address ends at white space, and a comma within it is part
// of it unless it stands at the end. At most limit are read.
func srcsetTargets(srcset string, limit int) []string {
	const space = " \t\n\f\r"
	var targets []string
	for len(targets) < limit {
		srcset = strings.TrimLeft(srcset, space+",")
		if srcset == "" {
			break
		}
		end := strings.IndexAny(srcset, space)
		if end < 0 {
			end = len(srcset)
		}
		target := srcset[:end]
		srcset = srcset[end:]
		if bare := strings.TrimRight(target, ","); bare != target {
			target = bare // the comma ends the candidate, so it has no descriptor
		} else {
			srcset = afterDescriptors(srcset)
		}
		targets = append(targets, target)
	}
	return targets
}

// afterDescriptors skips to behind the next comma outside of brackets.
func afterDescriptors(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				return text[i+1:]
			}
		}
	}
	return ""
}
