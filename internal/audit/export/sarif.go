package export

import (
	"bufio"
	"strings"

	"sightline/internal/check"
	"sightline/internal/seo"
)

// The parts of SARIF 2.1.0 that are used here.
type (
	sarifHead struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Full    sarifText `json:"fullDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifResult struct {
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     string            `json:"level"`
		Message   sarifText         `json:"message"`
		Locations []sarifLocation   `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
	}
	sarifInvocation struct {
		Successful bool                `json:"executionSuccessful"`
		EndTime    string              `json:"endTimeUtc"`
		Notes      []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
)

func writeSARIF(w *bufio.Writer, a *Audit) error {
	table := check.Table()
	tool := sarifTool{sarifDriver{Name: "Sightline"}}
	index := map[string]int{}
	for i, row := range table {
		rule := sarifRule{ID: row.ID, Short: sarifText{row.Title}, Full: sarifText{row.Finds}, Help: sarifText{row.Fix}}
		rule.Default.Level = level(row.Severity)
		tool.Driver.Rules = append(tool.Driver.Rules, rule)
		index[row.ID] = i
	}
	run := sarifInvocation{Successful: a.State != seo.Failed, EndTime: a.EndedAt.UTC().Format("2006-01-02T15:04:05Z")}
	if a.Failure != "" {
		run.Notes = []sarifNotification{{"error", sarifText{a.Failure}}}
	}
	head, err := encode(sarifHead{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0"})
	if err != nil {
		return err
	}
	body, err := encode(struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
	}{tool, []sarifInvocation{run}})
	if err != nil {
		return err
	}
	w.Write(head[:len(head)-1])
	w.WriteString(",\n\"runs\":[")
	w.Write(body[:len(body)-1])
	err = list(w, "results", a.Findings, func(f seo.Finding) sarifResult {
		result := sarifResult{RuleID: f.Check, RuleIndex: index[f.Check], Level: level(f.Severity), Locations: make([]sarifLocation, 1),
			Message: sarifText{message(table[index[f.Check]], f)}, Prints: map[string]string{"checkAndPage/v1": f.Check + " " + f.Page}}
		result.Locations[0].Physical.Artifact.URI = uri(f.Page)
		return result
	})
	if err != nil {
		return err
	}
	_, err = w.WriteString("}]}\n")
	return err
}

// message says what was found, with the evidence.
func message(row check.Row, f seo.Finding) string {
	text := row.Title + ": " + f.Value
	if len(f.Evidence) > 0 {
		text += "\n" + strings.Join(f.Evidence, "\n")
	}
	return text
}

func level(s seo.Severity) string {
	if s == seo.Notice {
		return "note"
	}
	return string(s)
}

// uri escapes what browsers take in an address and RFC 3986 does not.
func uri(address string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			out.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}
