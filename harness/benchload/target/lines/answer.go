package lines

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"benchbook/benchload/system"
)

// errorBody is where servers put their message about a failure.
type errorBody struct {
	Error        string `json:"error"`         // InfluxDB
	ErrorMessage string `json:"error_message"` // CnosDB
	Message      string `json:"message"`       // QuestDB
	Results      []struct {
		Error string `json:"error"` // InfluxDB, of one statement
	} `json:"results"`
}

// errorMessage returns the server's message if a body reports a failure.
func errorMessage(body []byte) string {
	var s errorBody
	if json.Unmarshal(body, &s) != nil {
		return ""
	}
	for _, text := range []string{s.Error, s.ErrorMessage, s.Message} {
		if text != "" {
			return text
		}
	}
	for _, result := range s.Results {
		if result.Error != "" {
			return result.Error
		}
	}
	return ""
}

// CheckStatus returns what is wrong with an answer by its status.
func CheckStatus(status int, body []byte) *system.Failure {
	switch {
	case status == 429 || status >= 500:
		return &system.Failure{Kind: system.Server, Status: status, Message: Message(body)}
	case status < 200 || status >= 300:
		return &system.Failure{Kind: system.Refused, Status: status, Message: Message(body)}
	}
	return nil
}

// Check returns what is wrong with an answer: its status, or an error in its body,
// because InfluxDB answers 200 to a query that failed. Bodies without the word are not
// parsed, so that a client costs little.
func Check(status int, body []byte) *system.Failure {
	if failure := CheckStatus(status, body); failure != nil {
		return failure
	}
	trimmed := bytes.TrimSpace(body)
	if status != 204 && len(trimmed) > 0 && (trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}') {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Message: "the answer is not a JSON object: " + Message(body)}
	}
	if !bytes.Contains(body, []byte(`"error`)) {
		return nil
	}
	if !json.Valid(body) {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Message: "the answer is not JSON: " + Message(body)}
	}
	if text := errorMessage(body); text != "" {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Message: Steady(text)}
	}
	return nil
}

// Message returns the server's message in a body, shortened.
func Message(body []byte) string {
	if text := errorMessage(body); text != "" {
		return Steady(text)
	}
	return Steady(string(body))
}

// maxMessage is the length of a message in bytes; more of it adds nothing.
const maxMessage = 400

// changing matches what differs between failures of the same kind: quoted lines, times,
// addresses of the client's side, and by how much a limit is exceeded.
var changing = regexp.MustCompile(`unable to parse '[^\n]*?': |127\.0\.0\.1:\d+->|\[::1\]:\d+->|exceeded: \(\d+/`)

// Steady makes messages of the same failure equal, so that they can be counted.
func Steady(text string) string {
	text = changing.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "unable") {
			return "unable to parse '…': "
		}
		if strings.HasPrefix(found, "exceeded") {
			return "exceeded: (…/"
		}
		return ""
	})
	text = strings.TrimSpace(strings.ToValidUTF8(text, "�"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// Zero sets the number that follows a text in the body of an answer to 0: what a server
// says of its own time differs between equal answers.
func Zero(body, text []byte) {
	at := bytes.Index(body, text)
	if at < 0 {
		return
	}
	zero := byte('0')
	for i := at + len(text); i < len(body) && body[i] >= '0' && body[i] <= '9'; i++ {
		body[i], zero = zero, ' '
	}
}
