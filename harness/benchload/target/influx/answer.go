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
