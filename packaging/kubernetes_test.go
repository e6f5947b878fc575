package packaging_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// pod is what the manifests say about the pods of a job or a StatefulSet.
type pod struct {
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
		FSGroup      int  `yaml:"fsGroup"`
	} `yaml:"securityContext"`
	Containers []struct {
		Args            []string
		VolumeMounts    []struct{ Name, MountPath string } `yaml:"volumeMounts"`
		SecurityContext struct {
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		} `yaml:"securityContext"`
		ReadinessProbe, LivenessProbe map[string]any
	}
	Volumes []struct {
		Name                  string
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
		Secret struct {
			DefaultMode int `yaml:"defaultMode"`
		}
	}
}

// manifest is one document of a manifest.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Replicas int
		Template struct{ Spec pod }
		Claims   []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

// TestKubernetes checks each manifest: what is mounted is declared, the memory of the logs is
// on another volume than the store and the keys, and every pod runs without root on a root
// that is read-only, with a group for its volumes.
func TestKubernetes(t *testing.T) {
	for name, kinds := range map[string][]string{
		"bolt.yaml":     {"PersistentVolumeClaim", "PersistentVolumeClaim", "Job", "StatefulSet", "Service", "NetworkPolicy"},
		"postgres.yaml": {"PersistentVolumeClaim", "StatefulSet", "PodDisruptionBudget", "Service", "NetworkPolicy"},
	} {
		content, err := os.ReadFile(filepath.Join("kubernetes", name))
		if err != nil {
			t.Fatal(err)
		}
		claims := map[string]bool{}
		var found []string
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var one manifest
			if err := yaml.Unmarshal([]byte(document), &one); err != nil {
				t.Fatalf("%s: %v: %s", name, err, document)
			}
			found = append(found, one.Kind)
			switch one.Kind {
			case "PersistentVolumeClaim":
				claims[one.Metadata.Name] = true
			case "Job", "StatefulSet":
				checkPod(t, name+": "+one.Kind, &one, claims)
			}
			if want := map[string]int{"bolt.yaml": 1, "postgres.yaml": 2}[name]; one.Kind == "StatefulSet" && one.Spec.Replicas != want {
				t.Errorf("%s: %d replicas", name, one.Spec.Replicas)
			}
		}
		if !slices.Equal(found, kinds) || !strings.Contains(string(content), "memory: /memory/log.memory") {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func checkPod(t *testing.T, name string, one *manifest, claims map[string]bool) {
	t.Helper()
	spec, mounted := &one.Spec.Template.Spec, map[string]string{}
	for _, claim := range one.Spec.Claims {
		mounted[claim.Metadata.Name] = "of the pod"
	}
	for _, volume := range spec.Volumes {
		claim := volume.PersistentVolumeClaim.ClaimName
		if claim == "" && volume.Secret.DefaultMode != 0o440 || claim != "" && !claims[claim] {
			t.Errorf("%s: volume %s is not claimed, or its secrets have mode %o", name, volume.Name, volume.Secret.DefaultMode)
		}
		mounted[volume.Name] = "claim " + claim
	}
	container := spec.Containers[0]
	for _, mount := range container.VolumeMounts {
		if mounted[mount.Name] == "" {
			t.Errorf("%s: %s is not a volume", name, mount.Name)
		}
	}
	if mounted["memory"] == "" || mounted["memory"] == mounted["state"] || mounted["memory"] == mounted["keys"] {
		t.Errorf("%s: the memory is on the volume of what it watches", name)
	}
	if context := spec.SecurityContext; !context.RunAsNonRoot || context.RunAsUser != 65532 || context.FSGroup != 65532 {
		t.Errorf("%s: runs as %+v", name, context)
	}
	if own := container.SecurityContext; !own.ReadOnlyRootFilesystem || own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation {
		t.Errorf("%s: %+v", name, own)
	}
}
