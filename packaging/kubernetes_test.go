package packaging_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"

	"github.com/goccy/go-yaml"
)

// pod is what the manifests say about the pods of a job or a StatefulSet.
type pod struct {
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
		FSGroup      int  `yaml:"fsGroup"`
	} `yaml:"securityContext"`
	InitContainers []container `yaml:"initContainers"`
	Containers     []container
	Volumes        []volume
}

type container struct {
	Name         string
	Args         []string
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
	SecurityContext struct {
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
	} `yaml:"securityContext"`
	ReadinessProbe struct {
		HTTPGet struct{ Port int } `yaml:"httpGet"`
	} `yaml:"readinessProbe"`
}

type volume struct {
	Name                  string
	PersistentVolumeClaim struct {
		ClaimName string `yaml:"claimName"`
	} `yaml:"persistentVolumeClaim"`
	ConfigMap struct{ Name string } `yaml:"configMap"`
	EmptyDir  *struct{}             `yaml:"emptyDir"`
	Secret    struct {
		Name        string `yaml:"secretName"`
		DefaultMode int    `yaml:"defaultMode"`
	}
}

// manifest is one document of a manifest.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Pod         pod `yaml:",inline"`
		Replicas    int
		AccessModes []string `yaml:"accessModes"`
		Template    struct{ Spec pod }
		Claims      []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

// TestKubernetes checks each manifest: what is mounted is declared, the memory of the logs is
// on another volume than the store and the keys, and every pod runs without root on a root
// that is read-only, with a group for its volumes. TestKubernetesStepByStep follows the page.
func TestKubernetes(t *testing.T) {
	for name, kinds := range map[string][]string{
		"bolt-setup.yaml":     {"PersistentVolumeClaim", "PersistentVolumeClaim", "Job"},
		"bolt-restore.yaml":   {"Pod"},
		"bolt.yaml":           {"StatefulSet", "Service", "NetworkPolicy"},
		"postgres-setup.yaml": {"PersistentVolumeClaim", "Job"},
		"postgres.yaml":       {"StatefulSet", "PodDisruptionBudget", "Service", "NetworkPolicy"},
	} {
		content, err := os.ReadFile(filepath.Join("kubernetes", name))
		testenv.Must(t, err)
		var found []string
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var one manifest
			if err := yaml.Unmarshal([]byte(document), &one); err != nil {
				t.Fatalf("%s: %v: %s", name, err, document)
			}
			found = append(found, one.Kind)
			switch one.Kind {
			case "Job", "StatefulSet":
				checkPod(t, name+": "+one.Kind, &one, &one.Spec.Template.Spec)
			case "Pod":
				checkPod(t, name, &one, &one.Spec.Pod)
			}
			if want := map[string]int{"bolt.yaml": 1, "postgres.yaml": 2}[name]; one.Kind == "StatefulSet" && one.Spec.Replicas != want {
				t.Errorf("%s: %d replicas", name, one.Spec.Replicas)
			}
		}
		if !slices.Equal(found, kinds) {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func checkPod(t *testing.T, name string, one *manifest, spec *pod) {
	t.Helper()
	mounted := map[string]string{}
	for _, claim := range one.Spec.Claims {
		mounted[claim.Metadata.Name] = "of the pod"
	}
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		mounted[volume.Name] = "claim " + volume.PersistentVolumeClaim.ClaimName
		if volume.Secret.Name != "" && volume.Secret.DefaultMode != 0o440 {
			t.Errorf("%s: secrets have mode %o", name, volume.Secret.DefaultMode)
		}
	}
	if mounted["memory"] == "" || mounted["memory"] == mounted["state"] || mounted["memory"] == mounted["keys"] {
		t.Errorf("%s: the memory is on the volume of what it watches", name)
	}
	if context := spec.SecurityContext; !context.RunAsNonRoot || context.RunAsUser != 65532 || context.FSGroup != 65532 {
		t.Errorf("%s: runs as %+v", name, context)
	}
	for _, container := range append(spec.InitContainers, spec.Containers...) {
		for _, mount := range container.VolumeMounts {
			if mounted[mount.Name] == "" {
				t.Errorf("%s: %s is not a volume", name, mount.Name)
			}
		}
		if own := container.SecurityContext; !own.ReadOnlyRootFilesystem || own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation {
			t.Errorf("%s: %+v", name, own)
		}
	}
}
