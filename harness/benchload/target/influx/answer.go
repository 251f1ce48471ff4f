package influx

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

// firstError returns the server's message if the answer reports a failure.
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
