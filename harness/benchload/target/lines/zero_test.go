package lines

import "testing"

func TestTheTimeThatAServerReportsIsZero(t *testing.T) {
	for body, want := range map[string]string{
		`{"took":137,"hits":{"took":5}}`: `{"took":0  ,"hits":{"took":5}}`,
		`{"took":7}`:                     `{"took":0}`,
		`{"took":`:                       `{"took":`,
		`{"hits":1}`:                     `{"hits":1}`,
	} {
		got := []byte(body)
		Zero(got, []byte(`"took":`))
		if string(got) != want {
			t.Errorf("%s becomes %s, want %s", body, got, want)
		}
	}
}
