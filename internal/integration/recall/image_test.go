package recall

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile, its lines joined.
type instruction struct{ word, rest string }

// stages reads a Dockerfile: its instructions by stage, the first of each being FROM.
func stages(t *testing.T, text string) [][]instruction {
	t.Helper()
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}
	var all [][]instruction
	joined := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, " ")
	for line := range strings.SplitSeq(joined, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case !slices.Contains(known, word):
			t.Fatalf("no instruction of ours: %s", line)
		case word == "FROM":
			all = append(all, nil)
		case len(all) == 0:
			t.Fatalf("before the first FROM: %s", line)
		}
		all[len(all)-1] = append(all[len(all)-1], instruction{word, rest})
	}
	return all
}

func TestTheImageHoldsTheProgramAloneAndNoRoot(t *testing.T) {
	all := stages(t, string(deployed(t, "Dockerfile")))
	if len(all) != 2 {
		t.Fatalf("%d stages", len(all))
	}
	var got []string
	for _, in := range all[1] {
		got = append(got, in.word+" "+in.rest)
	}
	want := []string{
		"FROM scratch",
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/", // else no server by TLS is reached
		"COPY --from=build /out/toolfit /toolfit",
		"COPY --from=build --chown=65532:65532 /out/data /data",
		"COPY --from=build /out/tmp /tmp",
		"USER 65532:65532",
		"WORKDIR /data",
		"EXPOSE 30779",
		`ENTRYPOINT ["/toolfit"]`,
		`CMD ["serve", "--config", "/etc/toolfit/toolfit.yaml"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the last stage is\n%s", strings.Join(got, "\n"))
	}
	for _, in := range all[1][8:] {
		var words []string
		if err := json.Unmarshal([]byte(in.rest), &words); err != nil {
			t.Errorf("%s takes a shell, and there is none: %s", in.word, in.rest)
		}
	}
}

func TestTheImageIsBuiltAsTheProgramIs(t *testing.T) {
	build := stages(t, string(deployed(t, "Dockerfile")))[0]
	module, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if version == nil || build[0].rest != "golang:"+string(version[1])+" AS build" {
		t.Errorf("built with %s, and go.mod says %s", build[0].rest, version)
	}
	text := ""
	for _, in := range build {
		text += in.word + " " + in.rest + "\n"
	}
	for _, want := range []string{"CGO_ENABLED=0 go build ", " -o /out/toolfit ./cmd/toolfit ", "mkdir -p /out/data /out/tmp"} {
		if !strings.Contains(text, want) {
			t.Errorf("the build lacks %q:\n%s", want, text)
		}
	}
}
