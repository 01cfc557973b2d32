"""vsix.py OUT -- the VS Code extension as a package: a zip of editors/vscode with the two descriptions that VS Code reads."""
import json
import os
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "editors/vscode")
TYPES = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown", ".txt": "text/plain", ".vsixmanifest": "text/xml"}


def manifest(about):
    name, version, publisher = (quoteattr(about[k]) for k in ("name", "version", "publisher"))
    return f'''<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{escape(about["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(about["description"])}</Description>
    <Categories>{escape(",".join(about["categories"]))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(about["engines"]["vscode"])}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
'''


def package(out):
    with open(os.path.join(FOLDER, "package.json"), encoding="utf-8") as f:
        about = json.load(f)
    files = {"extension/" + n: os.path.join(FOLDER, n) for n in ["package.json", *about["files"]]}
    files["extension/LICENSE.txt"] = os.path.join(ROOT, "LICENSE")
    kinds = "".join(f'<Default Extension="{k}" ContentType="{v}"/>' for k, v in TYPES.items())
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        def put(name, text):  # the same files give the same bytes
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            z.writestr(info, text)

        put("extension.vsixmanifest", manifest(about))
        put("[Content_Types].xml", f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{kinds}</Types>\n')
        for name, path in sorted(files.items()):
            with open(path, "rb") as f:
                put(name, f.read())
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(package(sys.argv[1]))
