package packaging_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"

	"github.com/goccy/go-yaml"
)

// TestDashboard checks that panels name only existing series and labels, because other panels
// would stay empty and look like an idle server, and that every series has a panel.
func TestDashboard(t *testing.T) {
	content, err := os.ReadFile("grafana.json")
	testenv.Must(t, err)
	var dashboard struct {
		UID    string
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil || dashboard.UID == "" || len(dashboard.Panels) == 0 {
		t.Fatalf("%+v: %v", dashboard, err)
	}
	served := servedMetrics(t)
	ids := map[int]bool{}
	var all strings.Builder
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || panel.GridPos.X+panel.GridPos.W > 24 || len(panel.Targets) == 0 {
			t.Errorf("%s: an id that is taken, too wide, or without a query", panel.Title)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			all.WriteString(target.Expr)
			checkQuery(t, panel.Title, target.Expr, served)
		}
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (countersign_[a-z_]+) `).FindAllStringSubmatch(served, -1) {
		if !strings.Contains(all.String(), match[1]) {
			t.Errorf("no panel shows %s", match[1])
		}
	}
}

// service is a service in compose.yaml.
type service struct {
	Command, Ports, Volumes, Networks, Secrets []string
	Healthcheck                                struct{ Test []string }
	DependsOn                                  map[string]any `yaml:"depends_on"`
}

// TestCompose checks that everything a service names is declared, and that the published port
// and the probe match the server's addresses.
func TestCompose(t *testing.T) {
	content, err := os.ReadFile("compose.yaml")
	testenv.Must(t, err)
	var file struct {
		Services                   map[string]service
		Networks, Volumes, Secrets map[string]any
	}
	testenv.Must(t, yaml.Unmarshal(content, &file))
	declared := func(of string, in map[string]any, names []string) {
		for _, name := range names {
			name, _, _ = strings.Cut(name, ":")
			if _, ok := in[name]; !ok {
				t.Errorf("%s is not declared among the %s", name, of)
			}
		}
	}
	for name, one := range file.Services {
		declared("networks", file.Networks, one.Networks)
		declared("volumes", file.Volumes, one.Volumes)
		declared("secrets", file.Secrets, one.Secrets)
		for other := range one.DependsOn {
			if len(file.Services[other].Healthcheck.Test) == 0 {
				t.Errorf("%s waits for the health of %s, which has no probe", name, other)
			}
		}
	}
	server := file.Services["countersign"]
	flag := func(name string) string { // of init, in the comment
		_, after, found := strings.Cut(string(content), " "+name+" ")
		if !found {
			t.Errorf("init has no %s", name)
		}
		value, _, _ := strings.Cut(after, " ")
		return value
	}
	_, listen, _ := strings.Cut(flag("--listen"), ":")
	_, admin, _ := strings.Cut(flag("--admin"), ":")
	if len(server.Ports) != 1 || !strings.HasPrefix(server.Ports[0], "127.0.0.1:") || !strings.HasSuffix(server.Ports[0], ":"+listen) {
		t.Errorf("published: %v, and it listens at %s", server.Ports, listen)
	}
	if probe := server.Healthcheck.Test; !slices.Contains(probe, "health") || !strings.HasSuffix(probe[len(probe)-1], ":"+admin) {
		t.Errorf("probed: %v, and the admin address is at %s", probe, admin)
	}
	if len(file.Services["postgres"].Ports) > 0 || slices.Contains(file.Services["postgres"].Networks, "outer") {
		t.Error("the database can be reached from outside")
	}
}

// TestStoreIsMadeOnce checks that no sample starts the server with --new-store each time, and
// that those whose store is not made by init show the separate step.
func TestStoreIsMadeOnce(t *testing.T) {
	samples := map[string]bool{"countersign.service": true, "compose.yaml": true, "kubernetes/bolt.yaml": false,
		"kubernetes/postgres.yaml": false, "kubernetes/postgres-setup.yaml": true, "Containerfile": false}
	for name, names := range samples {
		content, err := os.ReadFile(name)
		testenv.Must(t, err)
		steps := 0
		for line := range strings.Lines(string(content)) {
			if !strings.Contains(line, "--new-store") {
				continue
			}
			steps++
			once := strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasSuffix(name, "-setup.yaml") // a job
			if !once || !strings.Contains(line, "--check") {
				t.Errorf("%s makes a store at each start, or serves while it does: %s", name, line)
			}
		}
		if (steps > 0) != names {
			t.Errorf("%s names --new-store %d times", name, steps)
		}
	}
}
