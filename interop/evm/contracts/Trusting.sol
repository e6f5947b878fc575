// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// OpenZeppelin's ERC-20 for which two forwarders speak (ERC-2771), and itself: pos-portal's
/// NativeMetaTransaction, written from its type, with a domain that names the chain.
contract Trusting is ERC20, ERC2771Context, EIP712 {
    address immutable second;
    mapping(address => uint256) public metaNonces;

    bytes32 constant META = keccak256("MetaTransaction(uint256 nonce,address from,bytes functionSignature)");

    constructor(address holder, address first, address other)
        ERC20("Trusting", "TRU") ERC2771Context(first) EIP712("Trusting", "1")
    {
        second = other;
        _mint(holder, 1e24);
    }

    function isTrustedForwarder(address forwarder) public view override returns (bool) {
        return forwarder == second || forwarder == address(this) || super.isTrustedForwarder(forwarder);
    }

    function executeMetaTransaction(address from, bytes memory data, bytes32 r, bytes32 s, uint8 v) external payable returns (bytes memory) {
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(META, metaNonces[from]++, from, keccak256(data))));
        require(from != address(0) && ecrecover(digest, v, r, s) == from);
        (bool success, bytes memory result) = address(this).call(abi.encodePacked(data, from));
        require(success);
        return result;
    }

    function _msgSender() internal view override(Context, ERC2771Context) returns (address) {
        return ERC2771Context._msgSender();
    }

    function _msgData() internal view override(Context, ERC2771Context) returns (bytes calldata) {
        return ERC2771Context._msgData();
    }

    function _contextSuffixLength() internal view override(Context, ERC2771Context) returns (uint256) {
        return ERC2771Context._contextSuffixLength();
    }
}
