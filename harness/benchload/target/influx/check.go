package influx

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"benchbook/benchload/target"
)

// answer is the body of an answer to a query.
type answer struct {
	Error   string   `json:"error"`
	Results []result `json:"results"`
}

type result struct {
	Error  string   `json:"error"`
	Series []series `json:"series"`
}

type series struct {
	Tags    map[string]string `json:"tags"`
	Columns []string          `json:"columns"`
	Values  [][]any           `json:"values"`
}

// firstError is the server's words if the answer tells of a failure.
func (a *answer) firstError() string {
	if a.Error != "" {
		return a.Error
	}
	for _, r := range a.Results {
		if r.Error != "" {
			return r.Error
		}
	}
	return ""
}

// check tells what is wrong with an answer: its status, or, for InfluxDB
// answers 200 to a query that failed, an error in its body. Bodies without the
// word are not parsed, so that a client costs little.
func check(status int, body []byte) *target.Failure {
	switch {
	case status == 429 || status >= 500:
		return &target.Failure{Kind: target.Server, Status: status, Message: message(body)}
	case status < 200 || status >= 300:
		return &target.Failure{Kind: target.Refused, Status: status, Message: message(body)}
	}
	trimmed := bytes.TrimSpace(body)
	if status != 204 && len(trimmed) > 0 && (trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}') {
		return &target.Failure{Kind: target.BadAnswer, Status: status, Message: "the answer is not a JSON object: " + message(body)}
	}
	if !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return &target.Failure{Kind: target.BadAnswer, Status: status, Message: "the answer is not JSON: " + message(body)}
	}
	if words := a.firstError(); words != "" {
		return &target.Failure{Kind: target.BadAnswer, Status: status, Message: steady(words)}
	}
	return nil
}

// message is the server's own words in a body, as a short text.
func message(body []byte) string {
	var a answer
	if err := json.Unmarshal(body, &a); err == nil && a.firstError() != "" {
		return steady(a.firstError())
	}
	return steady(string(body))
}

// maxMessage is the length of a message in bytes; more of it adds nothing.
const maxMessage = 400

// changing is what differs from one failure to the next of the same kind:
// quoted lines, times and addresses of the client's side.
var changing = regexp.MustCompile(`unable to parse '[^\n]*?': |127\.0\.0\.1:\d+->|\[::1\]:\d+->`)

// steady makes messages of the same failure equal, so that they can be counted.
func steady(text string) string {
	text = changing.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "unable") {
			return "unable to parse '…': "
		}
		return ""
	})
	text = strings.TrimSpace(strings.ToValidUTF8(text, "�"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
