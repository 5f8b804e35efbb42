class Toolfit < Formula
  desc "Gateway between AI agents and their tools that fits any tool to any model"
  homepage "{{home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $system, $block := systems}}
  on_{{$block}} do
{{- range $arch, $cpu := cpus}}
    on_{{$cpu}} do
      url "{{files}}/{{archive $system $arch}}"
      sha256 "{{archive $system $arch | sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "toolfit"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/toolfit.bash" => "toolfit"
    zsh_completion.install "completions/_toolfit"
    fish_completion.install "completions/toolfit.fish"
    (buildpath/"toolfit.yaml").write "listen: 127.0.0.1:8420\nmcpServers: {}\n"
    (etc/"toolfit").install "toolfit.yaml"
  end

  service do
    run [opt_bin/"toolfit", "serve", "--config", etc/"toolfit/toolfit.yaml", "--store", var/"toolfit.db"]
    keep_alive crashed: true
    log_path var/"log/toolfit.log"
    error_log_path var/"log/toolfit.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toolfit version")
  end
end
