// use.cpp -- runs model.pt2 without Python: use libscale_torch.so model.pt2
#include <dlfcn.h>
#include <iostream>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

int main(int argc, char **argv)
{
    if (argc != 3 || !dlopen(argv[1], RTLD_NOW)) { // which registers the operator
        std::cerr << (argc == 3 ? dlerror() : "usage: use OPERATOR MODEL") << "\n";
        return 1;
    }
    torch::inductor::AOTIModelPackageLoader model(argv[2]);
    auto y = model.run(std::vector<at::Tensor>{torch::ones({30, 40})})[0];
    std::cout << y.sizes() << " " << y.min().item<float>() << " " << y.max().item<float>() << "\n";
}
