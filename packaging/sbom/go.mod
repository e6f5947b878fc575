module github.com/countersign-dev/countersign/packaging/sbom

go 1.26.0

require github.com/CycloneDX/cyclonedx-go v0.11.0
