"""poly's tests. CMake's target `check` says where the build, the plugin and the tools lie."""
import os

import lit.formats

given = lit_config.params  # noqa: F821
config.name = "poly"  # noqa: F821
config.test_format = lit.formats.ShTest()  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_exec_root = os.path.join(given["build"], "test")  # noqa: F821
config.environment["PATH"] = os.pathsep.join([given["tools"], given["llvm"], os.environ["PATH"]])  # noqa: F821
plugin = "--load-dialect-plugin={0} --load-pass-plugin={0}".format(given["plugin"])
config.substitutions += [("%tile_opt", f"tile-opt {plugin}"), ("%mlir_opt", f"mlir-opt {plugin}")]  # noqa: F821
